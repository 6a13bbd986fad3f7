import { replaced } from "./edits.js";
import type { Edit } from "./edits.js";
import type { IqlEdit, IqlFault } from "./types.js";

/** A suggestion of the service with the edits that carry it out, each alone; none where a person has to decide. */
export interface Remedy {
  sentence: string;
  edits: readonly IqlEdit[];
  /** Whether the sentence says what its one edit does: nothing else, and no less. */
  isOneEdit: boolean;
}

/** The suggestions of a fault. */
export function remediesOf({ suggestions, edits }: Pick<IqlFault, "suggestions" | "edits">): Remedy[] {
  return suggestions.map((sentence, index) => {
    const own = edits.filter(({ suggestion }) => suggestion === index);
    const [first, ...others] = own;
    const isOneEdit = first !== undefined && others.length === 0 && sentence.replace(/\.$/, "").endsWith(first.label);
    return { sentence, edits: own, isOneEdit };
  });
}

/** The query after an edit of it. */
export function mended(query: string, { start_utf16: start, end_utf16: end, text }: IqlEdit): Edit {
  return replaced(query, start, end, text);
}
