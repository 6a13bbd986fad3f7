import { replaced, withOperator } from "./edits.js";
import type { Edit } from "./edits.js";
import { statementAround, tokensOf } from "./tokens.js";
import type { IqlFault } from "./types.js";

/** A change of the query that a suggestion proposes; `label` tells it from the suggestion's other ones. */
export interface Choice {
  label: string;
  edit: Edit;
}

/** A suggestion of the service with the changes that carry it out; none where a person has to decide. */
export interface Remedy {
  sentence: string;
  choices: readonly Choice[];
}

type Place = Pick<IqlFault, "start_utf16" | "end_utf16">;
type Reader = (query: string, place: Place, found: RegExpMatchArray) => Choice[];

const OPERATORS = /\b(?:AND NOT|AND|OR)\b|[+<>]/g;

/** How the service words its suggestions, and what each means for the query. The first that fits counts. */
const READERS: readonly (readonly [RegExp, Reader])[] = [
  [/^Write for example (\{.*?\})(?: or (\{.*?\}))?$/s, examples],
  [/^(?:Use the template|Say it in words:) (\{.*\})$/s, statement],
  [/^Write ((?:NOT |\{).*\})$/s, statement],
  [/^Put it in braces: (\{.*\})$/s, inPlace],
  [/^Put (.*) between the two\.$/, between],
  [/^Write ((?:AND|OR|[<>])[ ANDORT<>]*)\.$/i, operators],
  [/^Put "}" where the statement ends\.$/, closeBrace],
  [/^Close that statement before the next one begins/, closeStatement],
  [/^Put "\)" where the group ends/, closeGroup],
  [/^Put '"' where the argument ends\.$/, closeQuote],
  [/^Leave it out\b/, leaveOut],
];

/** The suggestions of a fault, each with the changes that carry it out. */
export function remediesOf(query: string, fault: IqlFault): Remedy[] {
  return fault.suggestions.map((sentence) => ({ sentence, choices: choicesOf(query, fault, sentence) }));
}

function choicesOf(query: string, place: Place, sentence: string): Choice[] {
  for (const [pattern, read] of READERS) {
    const found = pattern.exec(sentence);
    if (found !== null) return read(query, place, found);
  }
  return [];
}

function examples(query: string, place: Place, found: RegExpMatchArray): Choice[] {
  return found
    .slice(1)
    .flatMap((text: string | undefined) => (text === undefined ? [] : overStatement(query, place, text)));
}

function statement(query: string, place: Place, found: RegExpMatchArray): Choice[] {
  return overStatement(query, place, found[1] ?? "");
}

/** In place of the whole statement that has the fault; of a query without braces, that is all of it. */
function overStatement(query: string, place: Place, text: string): Choice[] {
  const whole = statementAround(query, place.start_utf16);
  if (whole === undefined) return [{ label: text, edit: replaced(query, 0, query.length, text) }];
  const stands = query.trim() === query.slice(whole.start, whole.end);
  const joined = tokensOf(text).some(({ kind }) => kind === "operator");
  // Operators that come into a larger query bind among themselves as they did in the suggestion.
  const grouped = joined && !stands ? `(${text})` : text;
  return [{ label: text, edit: replaced(query, whole.start, whole.end, grouped) }];
}

function inPlace(query: string, place: Place, found: RegExpMatchArray): Choice[] {
  const text = found[1] ?? "";
  return [{ label: text, edit: replaced(query, place.start_utf16, place.end_utf16, text) }];
}

function between(query: string, place: Place, found: RegExpMatchArray): Choice[] {
  const offered = (found[1] ?? "").match(OPERATORS) ?? [];
  return offered.map((label) => ({ label, edit: withOperator(query, place.start_utf16, place.start_utf16, label) }));
}

function operators(query: string, place: Place, found: RegExpMatchArray): Choice[] {
  const offered = (found[1] ?? "").match(OPERATORS) ?? [];
  return offered.map((label) => ({ label, edit: withOperator(query, place.start_utf16, place.end_utf16, label) }));
}

/** A brace that nothing closes leaves nothing certain behind it: the statement is taken to reach to the end. */
function closeBrace(query: string): Choice[] {
  const end = query.trimEnd().length;
  return [{ label: "Close it at the end", edit: replaced(query, end, query.length, "}") }];
}

function closeStatement(query: string, place: Place): Choice[] {
  const start = query.slice(0, place.start_utf16).trimEnd().length;
  return [{ label: "Close it here", edit: replaced(query, start, place.start_utf16, "} ") }];
}

function closeGroup(query: string, place: Place): Choice[] {
  const end = query.trimEnd().length;
  return [
    { label: "Close it at the end", edit: replaced(query, end, query.length, ")") },
    { label: "Leave “(” out", edit: replaced(query, place.start_utf16, place.end_utf16, "") },
  ];
}

function closeQuote(query: string, place: Place): Choice[] {
  const whole = statementAround(query, place.start_utf16);
  const end = whole === undefined ? query.length : whole.end - 1;
  const words = query.slice(0, end).trimEnd().length;
  return [{ label: "Close it at the end of the statement", edit: replaced(query, words, end, '"') }];
}

function leaveOut(query: string, place: Place): Choice[] {
  return [{ label: "Leave it out", edit: replaced(query, place.start_utf16, place.end_utf16, "") }];
}
