import { z } from "zod";
import { DocumentContext } from "../chat/shapes.js";

/** What a back end keeps for a session's project: the images and documents that go with its messages. */
export const ProjectMetadata = z.strictObject({
  images: z.array(z.strictObject({ url: z.string(), name: z.string().optional() })).default([]),
  documents: z.array(DocumentContext).default([]),
});
export type ProjectMetadata = z.infer<typeof ProjectMetadata>;

/** A session as the service knows it: an id belongs to a user, and may be given again after a session is deleted. */
export interface SessionKey {
  userId: string;
  sessionId: string;
  /** When the session was made, as the service tells it. */
  created: string;
}

/** Where project metadata is kept: the port that another store can be put behind. */
export interface ProjectMetadataStore {
  /** Undefined where none is kept. */
  read(key: SessionKey): Promise<ProjectMetadata | undefined>;
  /** Puts it in place of what is kept, at once or not at all. Throws Refusal where it is too large, or too many are kept. */
  write(key: SessionKey, metadata: ProjectMetadata): Promise<void>;
  /** Removing what is not kept changes nothing. */
  remove(key: SessionKey): Promise<void>;
}

/** The token of the store. */
export const PROJECT_METADATA_STORE = Symbol("project metadata store");
