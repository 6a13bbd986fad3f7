import { Inject, Injectable } from "@nestjs/common";
import type { Caller } from "../contract/caller.js";
import { ProjectMetadataOfSessions } from "../project-metadata/project-metadata.js";
import type { Message } from "./shapes.js";

/** Gives messages the assets of their session's project. */
@Injectable()
export class Assets {
  constructor(@Inject(ProjectMetadataOfSessions) private readonly projects: ProjectMetadataOfSessions) {}

  /** The message with what it left out of `image_urls` and `document_context`; an empty list means none. */
  async added<Body extends Message>(caller: Caller, body: Body, sessionId: string): Promise<Body> {
    const whole = body.image_urls !== undefined && body.document_context !== undefined;
    if (whole || sessionId === "") return body;
    const kept = await this.projects.find(caller, { sessionId, userId: body.user_id ?? "" });
    return {
      ...body,
      image_urls: body.image_urls ?? kept?.images.map((image) => image.url) ?? [],
      document_context: body.document_context ?? kept?.documents ?? [],
    };
  }
}
