import { Module } from "@nestjs/common";
import { CatalogController } from "./catalog.controller.js";

/** The agent's rules, references and tools. */
@Module({ controllers: [CatalogController] })
export class CatalogModule {}
