import { Controller, Get, Inject, Param, Query } from "@nestjs/common";
import { ContextItemType } from "@proviso/client/stubs/context";
import { z } from "zod";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { toContract } from "../contract/json.js";
import type { Json } from "../contract/json.js";
import { Page } from "../http/shapes.js";

const type = z.enum(ContextItemType);

const ItemsQuery = z.object({ ...Page.shape, type: type.optional() });
const ItemQuery = z.object({ server_name: z.string().optional() });
type ItemsQuery = z.infer<typeof ItemsQuery>;
type ItemQuery = z.infer<typeof ItemQuery>;

@Controller("catalog/items")
export class CatalogController {
  constructor(@Inject(Contract) private readonly contract: Contract) {}

  @Get()
  list(@From() caller: Caller, @Query({ schema: ItemsQuery }) query: ItemsQuery): Promise<Json> {
    return this.contract.json(caller, this.contract.catalog, "listContextItems", toContract(query));
  }

  @Get(":type/:name")
  get(
    @From() caller: Caller,
    @Param("type", { schema: type }) itemType: ContextItemType,
    @Param("name") name: string,
    @Query({ schema: ItemQuery }) query: ItemQuery,
  ): Promise<Json> {
    const item = { ...toContract(query), type: itemType, name };
    return this.contract.json(caller, this.contract.catalog, "getContextItem", { item });
  }
}
