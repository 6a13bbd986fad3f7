import { Controller, Get, Inject, Param, Query } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import { ContextItemType } from "@proviso/client/stubs/context";
import { z } from "zod";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { toContract } from "../contract/json.js";
import type { Json } from "../contract/json.js";
import { Page } from "../http/shapes.js";
import { Answers, Does } from "../openapi/decorators.js";

const type = z.enum(ContextItemType);

const ItemsQuery = z.object({ ...Page.shape, type: type.optional() });
const ItemQuery = z.object({ server_name: z.string().optional() });
type ItemsQuery = z.infer<typeof ItemsQuery>;
type ItemQuery = z.infer<typeof ItemQuery>;

@ApiTags("Catalog")
@Controller("catalog/items")
export class CatalogController {
  constructor(@Inject(Contract) private readonly contract: Contract) {}

  @Get()
  @Does("Lists the agent's rules, references and tools.")
  @Answers("ListContextItemsResponse")
  list(@From() caller: Caller, @Query({ schema: ItemsQuery }) query: ItemsQuery): Promise<Json> {
    return this.contract.json(caller, this.contract.catalog, "listContextItems", toContract(query));
  }

  @Get(":type/:name")
  @Does("Shows an item with its content.")
  @Answers("GetContextItemResponse")
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
