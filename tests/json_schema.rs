//! What `--json` writes is what `docs/scenario.schema.json` says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::Command;

use serde_json::{Value, json};

/// What is wrong with a value, by the part of JSON Schema that our schema uses. A keyword that is not understood
/// is a mistake in the schema.
fn errors(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let mut wrong = |what: String| found.push(format!("{place}: {what}"));
    let number = |value: &Value| value.as_f64();
    for (keyword, wanted) in schema.as_object().unwrap() {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" | "properties" | "additionalProperties" | "items" => true,
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|it| is_a(it.as_str().unwrap(), value)),
                name => is_a(name.as_str().unwrap(), value),
            },
            "const" => value == wanted,
            "enum" => wanted.as_array().unwrap().contains(value),
            "minimum" => number(value).is_none_or(|it| it >= number(wanted).unwrap()),
            "maximum" => number(value).is_none_or(|it| it <= number(wanted).unwrap()),
            "minItems" => value.as_array().is_none_or(|it| it.len() as u64 >= wanted.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|it| it.len() as u64 <= wanted.as_u64().unwrap()),
            "uniqueItems" => value
                .as_array()
                .is_none_or(|it| it.iter().enumerate().all(|(index, item)| !it[..index].contains(item))),
            "pattern" => {
                assert_eq!(wanted, "^[0-9a-f]{64}$", "the only pattern of the schema");
                let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                value.as_str().is_some_and(|it| it.len() == 64 && it.bytes().all(digit))
            }
            "required" => {
                let names = wanted.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                let missing: Vec<&str> = names.filter(|name| value.get(name).is_none()).collect();
                if !missing.is_empty() {
                    wrong(format!("{missing:?} missing"));
                }
                true
            }
            "anyOf" => wanted.as_array().unwrap().iter().any(|it| {
                let mut inside = Vec::new();
                errors(it, value, place, &mut inside);
                inside.is_empty()
            }),
            other => panic!("{place}: `{other}` is not understood"),
        };
        if !holds {
            wrong(format!("{keyword} {wanted}, found {value}"));
        }
    }
    if let Value::Object(fields) = value {
        for (name, field) in fields {
            let own = schema.get("properties").and_then(|it| it.get(name));
            if let Some(of_field) = own.or(schema.get("additionalProperties")) {
                errors(of_field, field, &format!("{place}.{name}"), found);
            } else {
                found.push(format!("{place}.{name}: the schema does not know it"));
            }
        }
    }
    if let (Value::Array(items), Some(of_item)) = (value, schema.get("items")) {
        for (index, item) in items.iter().enumerate() {
            errors(of_item, item, &format!("{place}[{index}]"), found);
        }
    }
}

fn is_a(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("`{other}` is no type"),
    }
}

fn document() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["scenario", "gc-pause", "--seeds", "30", "--require", "lost_debits=0", "--json", "-"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_document_is_what_the_schema_says_and_the_schema_notices_what_is_not() {
    let schema: Value = serde_json::from_str(include_str!("../docs/scenario.schema.json")).unwrap();
    let all = |document: &Value| {
        let mut found = Vec::new();
        errors(&schema, document, "document", &mut found);
        found
    };
    let document = document();
    assert_eq!(all(&document), [""; 0]);
    assert!(!document["expectations"]["failed"].as_array().unwrap().is_empty());

    let broken = |change: &dyn Fn(&mut Value)| {
        let mut changed = document.clone();
        change(&mut changed);
        all(&changed)
    };
    let removed = broken(&|it| drop(it["rows"][0].as_object_mut().unwrap().remove("lost_debits")));
    assert_eq!(removed, ["document.rows[0]: [\"lost_debits\"] missing"]);
    assert_eq!(broken(&|it| it["schema"] = json!("fencepost.scenario/2")).len(), 1);
    assert_eq!(broken(&|it| it["rows"][0]["contract"]["tenure"] = json!("perhaps")).len(), 1);
    assert_eq!(broken(&|it| it["rows"][0]["grants"] = json!(-1)).len(), 1);
    assert_eq!(broken(&|it| it["rows"][0]["digest"] = json!("abc")).len(), 1);
    assert_eq!(broken(&|it| it["surprise"] = json!(1)).len(), 1);
}
