import { Body, Controller, Get, Inject, Param, Put, Query } from "@nestjs/common";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { WhoAsks } from "../http/shapes.js";
import { ProjectMetadataOfSessions } from "../project-metadata/project-metadata.js";
import { ProjectMetadata } from "../project-metadata/store.js";

@Controller("sessions/:session_id/project-metadata")
export class ProjectMetadataController {
  constructor(@Inject(ProjectMetadataOfSessions) private readonly projects: ProjectMetadataOfSessions) {}

  @Get()
  get(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
  ): Promise<ProjectMetadata> {
    return this.projects.read(caller, { sessionId, userId: who.user_id ?? "" });
  }

  @Put()
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
