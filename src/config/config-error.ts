/** A configuration that cannot be used. The message is one line, for people, and shows no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
