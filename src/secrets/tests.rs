use super::*;

fn secrets(values: &[&str]) -> Secrets {
    let mut secrets = Secrets::default();
    for value in values {
        secrets.remember(value);
    }
    secrets
}

#[test]
fn every_form_of_a_value_is_hidden_and_nothing_else() {
    let secrets = secrets(&["a b\"c", ""]);
    let text = "a b\"c, a%20b%22c, a b\\\"c and a b";
    assert_eq!(secrets.mask(text), "***, ***, *** and a b");
    assert!(matches!(secrets.mask("nothing"), Cow::Borrowed("nothing")));
}

#[test]
fn the_longest_of_overlapping_values_is_hidden() {
    assert_eq!(secrets(&["abc", "abcdef", "cde"]).mask("xabcdefx abcx"), "x***x ***x");
}

#[test]
fn the_beginning_of_a_value_is_hidden_where_the_text_is_cut() {
    assert_eq!(secrets(&["hunter2hunter2"]).mask("token hunter2hu… more"), "token ***… more");
    assert_eq!(secrets(&["hunter2"]).mask("hun…"), "hun…");
}

/// The text without what was found.
fn mask_found(text: &str, find: impl FnOnce(&mut Found)) -> String {
    let mut found = Found::default();
    find(&mut found);
    Secrets::from(found).mask(text).into_owned()
}

#[test]
fn headers_and_queries_tell_their_secrets() {
    let find = |found: &mut Found| {
        found.remember_header("Authorization", "Bearer abcdefgh==");
        found.remember_header("cookie", "lang=en; sid=0123456789");
        found.remember_header("X-Room", "lobby-lobby");
        found.remember_url("ws://h/?apikey=secret%20secret&room=lobby-lobby&token=short");
        found.remember_url("ws://bob:p%40ss@h/?a=b@c:d");
        found.remember_body(br#"{"a":[{"passwords":["pw12"]}],"token":"tokentoken","key":"k"}"#);
        found.remember_set_cookie("s=setcookie; Path=/lobby-lobby");
    };
    assert_eq!(mask_found("pw12 tokentoken k setcookie", find), "*** *** k ***");
    assert_eq!(mask_found("bob p%40ss p@ss c:d", find), "bob *** *** c:d");
    let text = "abcdefgh== en 0123456789 secret secret, secret%20secret lobby-lobby short";
    assert_eq!(mask_found(text, find), "*** en *** ***, *** lobby-lobby short");
}

#[test]
fn bodies_of_any_kind_tell_their_secrets() {
    for body in [
        "user=bob&password=pass+word-1%21&a=b",
        "{\"password\":\"pass word-1!\"}\n{\"a\":1}",
        "{\"a\":1}\n{\"password\":\"pass word-1!\"} tail",
        "CONNECT\npasscode:pass word-1!\n",
        "<password>pass word-1!</password>",
        "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\npass word-1!\r\n--b--",
    ] {
        let find = |found: &mut Found| found.remember_body(body.as_bytes());
        assert_eq!(mask_found("a pass word-1! 1", find), "a *** 1", "{body}");
    }
    let body = br#"{"token":1234567890,"pin":12,"password":1,"key":"primaryprimary"}"#;
    let find = |found: &mut Found| found.remember_body(body);
    assert_eq!(mask_found("1234567890 12 1 primaryprimary", find), "*** 12 1 primaryprimary");
}

#[test]
fn however_a_secret_was_escaped_it_is_hidden() {
    let secrets = secrets(&["Pässword/\"1\" é"]);
    for text in [
        "Pässword/\"1\" é",
        r#"P\u00e4ssword\/\"1\" \u00E9"#,
        "P%c3%a4ssword%2f%221%22+%C3%A9",
        "P&auml;ssword",
        "P&#228;ssword/&quot;1&quot; &#xe9;",
        r#"{\"a\":\"P\\u00e4ssword\\/\\\"1\\\" \\u00e9\"}"#,
        "PäSSWORD/\"1\"\r\n é",
        "UMOkc3N3b3JkLyIxIiDDqQ==",
        "YTpQw6Rzc3dvcmQvIjEiIMOp",
        "50c3a47373776f72642f22312220c3a9",
        "50 c3 a4 73 73 77 6f 72 64 2f 22 31 22 20 c3 a9",
        "50 c3 a4 73 73 77 6f 72 …",
    ] {
        let masked = secrets.mask(text);
        if text.contains("&auml;") {
            // Names of characters are not known, but for those that XML has.
            assert_eq!(masked, text);
        } else {
            let left = masked.replace(MASK, "");
            assert!(left.len() < 16 && masked.contains(MASK), "{text}: {masked}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_hide_none() {
    let secrets = secrets(&["hunter2-hunter2"]);
    let bytes = b"\xff\x00hunter2-hunter2\xff hunter2-h";
    assert_eq!(places(&[&secrets], bytes, false).as_slice(), std::slice::from_ref(&(2..17)));
    assert_eq!(places(&[&secrets], bytes, true), [2..17, 19..28]);
}

#[test]
fn many_values_are_found_as_few_are() {
    let mut many = secrets(&["abc", "abcdef", "cde", "äö"]);
    for number in 0..1_000 {
        many.remember(&format!("abd{number}"));
    }
    assert_eq!(many.mask("xabcdefx abcx äö abd7"), "x***x ***x *** ***");
    assert!(matches!(many.mask("ab abd äb"), Cow::Borrowed(_)));
    assert_eq!(many.mask("a ab… abcd…"), "a ab… ***…");
}

#[test]
fn a_value_of_one_store_does_not_split_that_of_another() {
    let (one, other) = (secrets(&["abc"]), secrets(&["abcdef"]));
    assert_eq!(mask(&[&one, &other], "abcdef abc"), "*** ***");
}
