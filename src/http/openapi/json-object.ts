export type JsonObject = { readonly [key: string]: unknown };

/** `#/components/schemas/` + the name. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
