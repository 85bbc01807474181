import { addressOf } from './address.ts';

/** A request of the API, as the page itself makes it. */
export interface ApiRequest {
  readonly path: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Keeps the connection open and prints what arrives. */
  readonly stream?: boolean;
  /** Name of the file that the answer is written to. Without it, the answer is printed. */
  readonly file?: string;
}

/** Returns the request as a command for a POSIX shell, which reads the API key from a variable. */
export function curlCommand(
  { path, method = 'GET', body, headers = {}, stream, file }: ApiRequest,
  needsKey: boolean,
): string {
  const parts = ['curl'];
  if (stream === true) parts.push('-N');
  if (method !== 'GET' && !(method === 'POST' && body !== undefined)) parts.push('-X', method);
  if (needsKey) parts.push('-H', '"Authorization: Bearer $CAPSTAN_API_KEY"');
  for (const [name, value] of Object.entries(headers)) parts.push('-H', quoted(`${name}: ${value}`));
  if (body !== undefined) parts.push('--json', quoted(JSON.stringify(body)));
  if (file !== undefined) parts.push('-o', quoted(file));
  parts.push(quoted(new URL(addressOf(path), location.origin).href));
  return parts.join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
