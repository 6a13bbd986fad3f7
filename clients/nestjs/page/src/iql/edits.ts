import { statementAround } from "./tokens.js";

/** A query after a change, with what is selected in it then. Offsets are UTF-16, `end` exclusive. */
export interface Edit {
  query: string;
  start: number;
  end: number;
}

/** The query with a range replaced; the cursor stands after the new text. */
export function replaced(query: string, start: number, end: number, text: string): Edit {
  const place = start + text.length;
  return { query: query.slice(0, start) + text + query.slice(end), start: place, end: place };
}

/** The call of a template with its arguments' names as placeholders: `{IS clause entitling "PARTY"}`. */
export function callOf(template: { name: string; arguments: readonly string[] }): string {
  return `{IS ${[template.name, ...template.arguments.map((name) => `"${name}"`)].join(" ")}}`;
}

/**
 * The query with a template's call at the cursor, its first placeholder selected. A cursor inside of a statement is
 * moved behind it, and where two operands would meet, AND is put between them.
 */
export function withTemplate(
  query: string,
  cursor: number,
  template: { name: string; arguments: readonly string[] },
): Edit {
  const call = callOf(template);
  const enclosing = statementAround(query, cursor);
  const place = enclosing !== undefined && enclosing.start < cursor ? enclosing.end : cursor;
  const { query: changed, end } = replaced(query, place, place, padded(query, place, call, "AND"));
  const start = changed.lastIndexOf(call, end);
  const placeholder = call.indexOf('"') + 1;
  if (placeholder === 0) return { query: changed, start: start + call.length, end: start + call.length };
  return { query: changed, start: start + placeholder, end: start + call.indexOf('"', placeholder) };
}

/** The query with an operator in place of what is selected, with blanks around it. */
export function withOperator(query: string, start: number, end: number, operator: string): Edit {
  const before = query.slice(0, start);
  const after = query.slice(end);
  const left = before === "" || /[\s(]$/.test(before) ? "" : " ";
  const right = /^\s/.test(after) ? "" : " ";
  return replaced(query, start, end, left + operator + right);
}

function padded(query: string, place: number, call: string, operator: string): string {
  const before = query.slice(0, place);
  const after = query.slice(place);
  const meetsBefore = /[})]\s*$/.test(before);
  const meetsAfter = /^\s*(?:[{(]|NOT\b)/i.test(after);
  const left = /\S$/.test(before) && !before.endsWith("(") ? " " : "";
  const right = /^\S/.test(after) && !after.startsWith(")") ? " " : "";
  return left + (meetsBefore ? `${operator} ` : "") + call + (meetsAfter ? ` ${operator}` : "") + right;
}
