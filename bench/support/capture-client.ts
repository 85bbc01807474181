import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Milliseconds from sending the request to the end of the answer. */
  readonly ms: number;
}

/** Sends `POST /screenshot`; aborting the signal closes the connection. */
export type Capture = (
  url: string,
  options?: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
) => Promise<Answer>;

export interface CaptureClient {
  readonly capture: Capture;
  /** Closes the idle connections. */
  close(): void;
}

/** Returns a client that keeps its connections open. */
export function captureClient(origin: string): CaptureClient {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return {
    capture: (url, options, signal) => post(agent, `${origin}/screenshot`, JSON.stringify({ url, ...options }), signal),
    close: () => agent.destroy(),
  };
}

function post(agent: Agent, url: string, body: string, signal: AbortSignal | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sentAt = performance.now();
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { agent, method: 'POST', headers, ...(signal && { signal }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const ms = performance.now() - sentAt;
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString(), ms });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
