import { Module } from "@nestjs/common";
import { IqlController } from "./iql.controller.js";

/** Queries in IQL. */
@Module({ controllers: [IqlController] })
export class IqlModule {}
