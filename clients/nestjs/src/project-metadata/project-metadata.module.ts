import { join } from "node:path";
import { Module } from "@nestjs/common";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";
import { FileStore } from "./file-store.js";
import { ProjectMetadataOfSessions } from "./project-metadata.js";
import { PROJECT_METADATA_STORE } from "./store.js";

/** The project metadata, in files of the data folder. */
@Module({
  providers: [
    ProjectMetadataOfSessions,
    {
      provide: PROJECT_METADATA_STORE,
      inject: [SETTINGS],
      useFactory: async (settings: Settings) => {
        const store = new FileStore(join(settings.dataDir, "project-metadata"));
        await store.prepare();
        return store;
      },
    },
  ],
  exports: [ProjectMetadataOfSessions],
})
export class ProjectMetadataModule {}
