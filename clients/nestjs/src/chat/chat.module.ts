import { Module } from "@nestjs/common";
import { ProjectMetadataModule } from "../project-metadata/project-metadata.module.js";
import { Assets } from "./assets.js";
import { ChatController } from "./chat.controller.js";
import { TurnsController } from "./turns.controller.js";
import { Turns } from "./turns.js";

/** Turns: asking, following, deciding. */
@Module({
  imports: [ProjectMetadataModule],
  controllers: [ChatController, TurnsController],
  providers: [Assets, Turns],
  exports: [Assets],
})
export class ChatModule {}
