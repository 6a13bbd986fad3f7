import { expect, test } from "vitest";
import { remediesOf } from "../../src/iql/remedies.js";

/** The suggestion's choices for a fault at some words of the query: label and query after it. */
function choices(query: string, words: string, suggestion: string): [string, string][] {
  const start = words === "" ? query.length : query.indexOf(words);
  const fault = { message: "", suggestions: [suggestion], start_utf16: start, end_utf16: start + words.length };
  return remediesOf(query, fault).flatMap((remedy) =>
    remedy.choices.map(({ label, edit }): [string, string] => [label, edit.query]),
  );
}

function mended(query: string, words: string, suggestion: string): string[] {
  return choices(query, words, suggestion).map(([, changed]) => changed);
}

test.each([
  [
    "a template that is meant",
    "{IS terminaton clause} AND {A}",
    "terminaton clause",
    "Use the template {IS termination clause}",
    ["{IS termination clause} AND {A}"],
  ],
  [
    "the same in words",
    "{A} OR {IS odd clause}",
    "odd clause",
    "Say it in words: {This is an odd clause.}",
    ["{A} OR {This is an odd clause.}"],
  ],
  [
    "an argument in quotes",
    "{A} AND {IS clause that limits liability}",
    "limits liability",
    'Write {IS clause that "limits liability"}',
    ['{A} AND {IS clause that "limits liability"}'],
  ],
  [
    "a query without braces",
    "IS terminaton clause",
    "terminaton clause",
    "Use the template {IS termination clause}",
    ["{IS termination clause}"],
  ],
  [
    "operators inside of braces",
    "{IS right or obligation}",
    "or",
    "Write {IS right} OR {IS obligation}",
    ["{IS right} OR {IS obligation}"],
  ],
  [
    "operators inside of braces, in a larger query",
    "{A} AND {IS right or obligation}",
    "or",
    "Write {IS right} OR {IS obligation}",
    ["{A} AND ({IS right} OR {IS obligation})"],
  ],
  [
    "a missing operator",
    "{A} {B}",
    "{B}",
    "Put AND, OR, +, > or < between the two.",
    ["{A} AND {B}", "{A} OR {B}", "{A} + {B}", "{A} > {B}", "{A} < {B}"],
  ],
  [
    "a missing operator before NOT",
    "{A} NOT {B}",
    "NOT",
    "Put AND or OR between the two.",
    ["{A} AND NOT {B}", "{A} OR NOT {B}"],
  ],
  ["a sign that is none", "{A} && {B}", "&&", "Write AND.", ["{A} AND {B}"]],
  ["a sign with two meanings", "{A}, {B}", ",", "Write AND or OR.", ["{A} AND {B}", "{A} OR {B}"]],
  ["a word with two operators", "{A} without {B}", "without", "Write AND NOT.", ["{A} AND NOT {B}"]],
  [
    "words outside of braces",
    "{A} AND termination",
    "termination",
    "Put it in braces: {termination}",
    ["{A} AND {termination}"],
  ],
  ["too much", "{A} ) OR {B}", ")", 'Leave it out, or put "(" where the group begins.', ["{A}  OR {B}"]],
  ["an open brace", "{A} AND {B ", "{B", 'Put "}" where the statement ends.', ["{A} AND {B}"]],
  [
    "a statement in a statement",
    "{A {B}",
    "{B",
    "Close that statement before the next one begins; statements do not stand inside each other.",
    ["{A} {B}"],
  ],
  [
    "an open parenthesis",
    "({A} OR {B}",
    "(",
    'Put ")" where the group ends, or leave "(" out.',
    ["({A} OR {B})", "{A} OR {B}"],
  ],
  [
    "an open quotation mark",
    '{IS clause that "ends }',
    '"ends',
    "Put '\"' where the argument ends.",
    ['{IS clause that "ends"}'],
  ],
  [
    "nothing",
    "",
    "",
    "Write for example {IS confidentiality clause} or {This clause limits liability.}",
    ["{IS confidentiality clause}", "{This clause limits liability.}"],
  ],
])("%s is mended", (_name, query, words, suggestion, expected) => {
  expect(mended(query, words, suggestion)).toEqual(expected);
});

test.each(["Shorten the statements, or ask several queries.", "Write the argument in the quotes.", "Something new."])(
  "what a person has to decide is a sentence only: %s",
  (suggestion) => {
    expect(choices("{A}", "A", suggestion)).toEqual([]);
  },
);

test("choices are told apart by their labels", () => {
  expect(choices("{A}, {B}", ",", "Write AND or OR.").map(([label]) => label)).toEqual(["AND", "OR"]);
});

test("the cursor stands behind what was put in", () => {
  const fault = { message: "", suggestions: ["Use the template {IS right}"], start_utf16: 4, end_utf16: 9 };
  const edit = remediesOf("{IS rihgt} AND {B}", fault)[0]?.choices[0]?.edit;
  expect(edit).toEqual({ query: "{IS right} AND {B}", start: 10, end: 10 });
});
