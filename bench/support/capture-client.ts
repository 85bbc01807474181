import { Agent, request } from 'node:http';

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
    capture: (url, options) => post(agent, `${origin}/screenshot`, JSON.stringify({ url, ...options })),
    close: () => agent.destroy(),
  };
}

function post(agent: Agent, url: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
