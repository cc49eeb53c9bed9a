//! The upgrade request as a plan can shape it, and what servers make of it.

use crate::run::{plan, run_against, start};
use crate::support::env::Env;
use crate::support::peer::Peer;
use crate::support::target;

/// A server that accepts each upgrade and echoes.
fn accepting() -> Peer {
    Peer::spawn(|client| {
        client.accept();
        client.echo();
    })
}

#[test]
fn subprotocols_are_offered_in_order_and_the_choice_can_be_asserted() {
    let server = target();
    let steps = r"
- open: { subprotocols: [chat.v2, '${newest}'], assert: { subprotocol: chat.v2 } }
- close
- open:
    name: second choice
    path: /echo?subprotocol=chat.v9
    subprotocols: [chat.v2, '${newest}']
    assert: { subprotocol: chat.v9 }
    extract: { header: { name: sec-websocket-protocol, as: chosen } }
- request_response: { send: '${chosen}', assert: { equals: chat.v9 } }
- close
- open: { name: none chosen, path: '/echo?subprotocol=', subprotocols: chat.v1 }
- close
- open: { name: wrong, subprotocols: [chat.v1], assert: { subprotocol: chat.v2 } }
";
    let url = format!("ws://{}/echo", server.address());
    let plan = format!("variables: {{ newest: chat.v9 }}\n{}", plan("", steps));
    let finished = start(&Env::new(), &plan, &url).finish();
    finished.expect_exit(1);
    let failed: Vec<&str> =
        finished.rows.iter().filter(|row| !row.success).map(|row| row.label.as_str()).collect();
    assert_eq!(failed, ["wrong"], "{finished:#?}");
    let row = finished.row("wrong");
    assert_eq!(row.code, "101");
    let failure = "Test failed: headers `Sec-WebSocket-Protocol` expected to equal /chat.v2/, \
                   found /chat.v1/";
    assert_eq!(row.failure, failure);
}

#[test]
fn a_subprotocol_that_was_not_offered_fails_the_upgrade() {
    let server = target();
    let steps = r"
- open: { name: other, path: /echo?subprotocol=b, subprotocols: [a, c] }
- open: { name: unasked, path: /echo?subprotocol=b }
";
    let url = format!("ws://{}/", server.address());
    let finished = start(&Env::new(), &plan("", steps), &url).finish();
    finished.expect_exit(1);
    let what = "the answer chooses a subprotocol that was not offered: `b`; ";
    for (label, offered) in [("other", "`a`, `c` was"), ("unasked", "none was")] {
        let row = finished.row(label);
        assert_eq!((row.code.as_str(), row.message.as_str()), ("UPGRADE", "Upgrade failed"));
        assert_eq!(row.failure, format!("{what}{offered}"));
    }
}

#[test]
fn a_subprotocol_from_a_variable_that_is_none_is_a_bad_value() {
    let peer = accepting();
    let steps = "- open: { name: bad, subprotocols: ['${two}'] }\n\
                 - open: { name: twice, subprotocols: ['${one}', chat] }\n\
                 - open: { subprotocols: ['${one}', other] }";
    let plan = format!("variables: {{ one: chat, two: 'a, b' }}\n{}", plan("", steps));
    let (finished, records) = run_against(peer, &plan);
    finished.expect_exit(1);
    assert_eq!(finished.row("bad").code, "BAD_VALUE");
    assert_eq!(finished.row("bad").failure, "`a, b` is not a subprotocol, from `${two}`");
    assert_eq!(finished.row("twice").failure, "`chat` is offered twice, from `chat`");
    assert_eq!(records.len(), 1, "nothing is sent of those");
    assert_eq!(records[0].header("sec-websocket-protocol"), Some("chat, other"));
}
