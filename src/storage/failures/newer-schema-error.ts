/** Thrown when a later version of Capstan has changed the schema, so that this one must not write. The start fails. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';

  /** `what`: a name of the database that the operator recognises. */
  constructor(what: string, found: number, known: number) {
    super(
      `${what} has schema version ${found}, and this version of Capstan knows versions up to ${known}: start the version that wrote it, or a later one`,
    );
  }
}
