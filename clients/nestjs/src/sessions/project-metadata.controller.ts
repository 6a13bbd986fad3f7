import { Body, Controller, Get, Inject, Param, Put, Query } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { WhoAsks } from "../http/shapes.js";
import { Answers, Does } from "../openapi/decorators.js";
import { ProjectMetadataOfSessions } from "../project-metadata/project-metadata.js";
import { ProjectMetadata } from "../project-metadata/store.js";

@ApiTags("Sessions")
@Controller("sessions/:session_id/project-metadata")
export class ProjectMetadataController {
  constructor(@Inject(ProjectMetadataOfSessions) private readonly projects: ProjectMetadataOfSessions) {}

  @Get()
  @Does("Shows the project metadata of a session.")
  @Answers("ProjectMetadata")
  get(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
  ): Promise<ProjectMetadata> {
    return this.projects.read(caller, { sessionId, userId: who.user_id ?? "" });
  }

  @Put()
  @Does("Puts project metadata in place of a session's.")
  @Answers("ProjectMetadata")
  async replace(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
    @Body({ schema: ProjectMetadata }) metadata: ProjectMetadata,
  ): Promise<ProjectMetadata> {
    await this.projects.replace(caller, { sessionId, userId: who.user_id ?? "" }, metadata);
    return metadata;
  }
}
