//! Data sets, by what a user sees.

use std::collections::BTreeSet;

use crate::support::env::{Env, Finished};

/// Runs a group of these settings that says its user and token to an echo server.
fn run(csv: impl AsRef<[u8]>, set: &str, group: &str) -> Finished {
    let env = Env::new();
    env.write("users.csv", csv);
    let plan = format!(
        "
data_sets: [{{ file: users.csv, {set} }}]
sample_variables: [user]
defaults: {{ url: '${{__P(target)}}' }}
thread_groups:
  - name: Users
    {group}
    steps:
      - once: {{ steps: [open: /echo] }}
      - request_response: {{ name: '${{user}}', send: '${{user}}:${{token}}', extract: {{ regex: {{ pattern: '(.*)', as: said }} }} }}
"
    );
    env.run(&plan, &["--serve", "--no-progress"])
}

/// The labels of all rows but the opens, in order.
fn said(finished: &Finished) -> Vec<&str> {
    let rows = finished.rows.iter().filter(|row| row.label != "open");
    rows.map(|row| row.label.as_str()).collect()
}

fn lines(count: usize) -> String {
    (0..count).fold("user,token\n".to_owned(), |text, n| text + &format!("u{n},t{n}\n"))
}

#[test]
fn each_line_is_handed_out_once_however_many_threads_take_them() {
    let finished = run(lines(300), "recycle: false", "threads: 7\n    loops: forever");
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    let users: BTreeSet<&str> = said(&finished).into_iter().collect();
    assert_eq!((said(&finished).len(), users.len()), (300, 300));
    assert!(
        finished.stderr.contains("7 threads when a data set had no more lines"),
        "{finished:?}"
    );
}

#[test]
fn lines_come_in_order_and_begin_again() {
    let finished =
        run("\u{feff}user,token,more\r\nann,1,x\r\n\r\n\"b,ob\",2,y,z\r\n", "", "loops: 5");
    assert_eq!(said(&finished), ["ann", "b,ob", "ann", "b,ob", "ann"]);
}

#[test]
fn a_group_or_each_thread_can_have_the_lines_for_itself() {
    let threads = run(lines(9), "share: thread", "threads: 3\n    loops: 2");
    let mut users = said(&threads);
    users.sort_unstable();
    assert_eq!(users, ["u0", "u0", "u0", "u1", "u1", "u1"]);
    let env = Env::new();
    env.write("users.csv", "ann;1\nbob;2\n");
    let group = "{ loops: 2, steps: [open: '/echo?token=${token}', request_response: { name: '${user}', send: x }] }";
    let plan = format!(
        "
data_sets: {{ file: users.csv, variables: [user, token], delimiter: ;, share: group }}
defaults: {{ url: '${{__P(target)}}' }}
setup: {{ name: Before, loops: 5, steps: [open: /echo] }}
thread_groups: [{group}, {group}]
"
    );
    let finished = env.run(&plan, &["--serve", "--no-progress"]);
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    for user in ["ann", "bob"] {
        assert_eq!(finished.rows(user).len(), 2, "{:?}", finished.rows);
    }
}

#[test]
fn a_file_that_cannot_be_used_is_told_with_the_number_of_the_line() {
    let cases: [(&[u8], &str, &str); 9] = [
        (b"", "", "`users.csv` is empty"),
        (b"user,token\n", "", "`users.csv` has no lines with data"),
        (b"user,token\nann,1\n\nbob\n", "", "line 4 of `users.csv` has 1 of 2 fields"),
        (b"user,token\nann,\xff\n", "", "line 2 of `users.csv` is not UTF-8 text"),
        (b"user,to ken\nann,1\n", "", "`users.csv` has a column called `to ken`"),
        (b"ann,1\n", "delimiter: ab", "`ab` is no delimiter"),
        (b"ann,1\n", "share: none", "`none` is none of `all`, `group`, `thread`"),
        (b"ann,1\n", "variables: [user, token, third]", "line 1 of `users.csv` has 2 of 3 fields"),
        (b"user\nann\n", "", "undefined variable `token`"),
    ];
    for (csv, set, expected) in cases {
        let finished = run(csv, set, "loops: 1");
        assert_eq!(finished.exit_code, Some(2), "{expected}: {}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{expected}: {}", finished.stderr);
    }
    let env = Env::new();
    let plan =
        "data_sets: [{ file: none.csv }, {}]\nthread_groups: { steps: [open: 'ws://h/${user}'] }";
    let stderr = env.run(plan, &[]).stderr;
    assert!(stderr.contains("there is no file `none.csv`"), "{stderr}");
    assert!(stderr.contains("the data set has no `file`"), "{stderr}");
}
