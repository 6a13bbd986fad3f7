import type { IqlTemplate } from "./types.js";

/** The templates that have every word of the filter, or the beginning of one, in their name or meaning. */
export function matchingTemplates(templates: readonly IqlTemplate[], filter: string): IqlTemplate[] {
  const wanted = wordsOf(filter);
  return templates.filter((template) => {
    const words = wordsOf(`${template.name} ${template.arguments.join(" ")} ${template.meaning}`);
    return wanted.every((word) => words.some((candidate) => candidate.startsWith(word)));
  });
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
