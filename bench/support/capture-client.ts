import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends `POST /screenshot`. */
export type Capture = (url: string, options?: Readonly<Record<string, unknown>>) => Promise<Answer>;

export interface CaptureClient {
  readonly capture: Capture;
  /** Closes the idle connections. */
  close(): void;
}

/** Returns a client that keeps its connections open. */
export function captureClient(origin: string): CaptureClient {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return {
    capture: (url, options) => post(`${origin}/screenshot`, { url, ...options }, { agent }),
    close: () => agent.destroy(),
  };
}

/** Sends JSON with `POST`, over a connection of the agent. */
export function post(
  url: string,
  content: unknown,
  { agent, signal }: { readonly agent: Agent | false; readonly signal?: AbortSignal },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(content);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { agent, method: 'POST', headers, ...(signal && { signal }) }, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
