/** A later version of Capstan has changed the schema, so this one must not write to it. Ends the start. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';

  /** `what`: the database, as an operator knows it. */
  constructor(what: string, found: number, known: number) {
    super(
      `${what} has schema version ${found}, and this version of Capstan knows versions up to ${known}: start the version that wrote it, or a later one`,
    );
  }
}
