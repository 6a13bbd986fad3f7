import { Module } from "@nestjs/common";
import { ChatModule } from "../chat/chat.module.js";
import { ProjectMetadataModule } from "../project-metadata/project-metadata.module.js";
import { ProjectMetadataController } from "./project-metadata.controller.js";
import { SessionsController } from "./sessions.controller.js";

/** Sessions, their context items, and the project metadata kept for them. */
@Module({
  imports: [ChatModule, ProjectMetadataModule],
  controllers: [SessionsController, ProjectMetadataController],
})
export class SessionsModule {}
