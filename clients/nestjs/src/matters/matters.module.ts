import { Module } from "@nestjs/common";
import { DocumentsController } from "./documents.controller.js";
import { Downloads } from "./downloads.js";
import { MattersController } from "./matters.controller.js";
import { MembersController } from "./members.controller.js";
import { Uploads } from "./uploads.js";

/** Matters, their documents, and the tools that read them. */
@Module({ controllers: [DocumentsController, MattersController, MembersController], providers: [Downloads, Uploads] })
export class MattersModule {}
