import type { Matter } from "../core/contract.js";

/** What members may be, with the words for it. */
export const MEMBER_ROLES = [
  ["MATTER_ROLE_READER", "Reader"],
  ["MATTER_ROLE_EDITOR", "Editor"],
  ["MATTER_ROLE_OWNER", "Owner"],
] as const;

/** What the caller is called who may not do everything in a matter. */
const WORDS: Readonly<Partial<Record<Matter["role"], string>>> = {
  MATTER_ROLE_READER: "Reader",
  MATTER_ROLE_EDITOR: "Editor",
};

/** The caller's role in a matter, in words; empty for its owner, of whom nothing needs to be said. */
export function roleWord({ role }: Pick<Matter, "role">): string {
  return WORDS[role] ?? "";
}

/** Whether the caller may upload and delete documents, and rename the matter. */
export function mayEdit({ role }: Pick<Matter, "role">): boolean {
  return role !== "MATTER_ROLE_READER";
}

/** Whether the caller may delete the matter. */
export function mayOwn(matter: Pick<Matter, "role">): boolean {
  return roleWord(matter) === "";
}
