/** What a part of a query is, for its colour. */
export type TokenKind = "statement" | "template" | "operator" | "bracket" | "text";

export interface Token {
  kind: TokenKind;
  text: string;
}

/** A statement with its closing brace, if it has one; an operator or parenthesis; anything else. */
const PARTS =
  /(?<braced>\{(?:\\[\\{}]|[^{}])*\}?)|(?<operator>\b(?:AND|OR|NOT)\b|[+<>])|(?<bracket>[()])|(?<text>[^{()+<>\s]+|\s+|[^])/gi;

/** The query cut into coloured parts; together they are the query. Its faults are for the service to find. */
export function tokensOf(query: string): Token[] {
  if (!query.includes("{")) return query === "" ? [] : [{ kind: "text", text: query }];
  return [...query.matchAll(PARTS)].map((found) => ({ kind: kindOf(found.groups ?? {}), text: found[0] }));
}

function kindOf({ braced, operator, bracket }: Record<string, string | undefined>): TokenKind {
  if (braced !== undefined) return /^\{\s*IS(?:\s|$)/.test(braced) ? "template" : "statement";
  if (operator !== undefined) return "operator";
  return bracket === undefined ? "text" : "bracket";
}

/** The end of the statement whose braces enclose a place of the query, brace included; undefined outside of any. */
export function statementAround(query: string, place: number): { start: number; end: number } | undefined {
  let start = 0;
  for (const { kind, text } of tokensOf(query)) {
    const end = start + text.length;
    if ((kind === "statement" || kind === "template") && start <= place && place < end) return { start, end };
    start = end;
  }
  return undefined;
}
