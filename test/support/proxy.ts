import http from 'node:http';
import net, { type Socket } from 'node:net';

export interface RunningProxy extends AsyncDisposable {
  readonly port: number;
  /** Number of connections that it has accepted. */
  readonly connections: number;
  /** `CONNECT host:port` or `GET http://...` of each request, and its proxy credentials. */
  readonly asked: readonly { readonly what: string; readonly authorization: string | undefined }[];
}

export interface ProxyOptions {
  /** `user:password` that it requires. */
  readonly credentials?: string;
  /** Names that only this proxy resolves, with the address of each. */
  readonly names?: Readonly<Record<string, string>>;
}

/** A real forward proxy on loopback. */
export async function startProxy({ credentials, names = {} }: ProxyOptions = {}): Promise<RunningProxy> {
  const asked: { what: string; authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const admit = ({ method, url, headers }: http.IncomingMessage): boolean => {
    const authorization = headers['proxy-authorization'];
    asked.push({ what: `${method} ${url}`, authorization });
    return wanted === undefined || authorization === wanted;
  };
  const addressOf = (host: string) => names[host] ?? host;

  const server = http.createServer((request, response) => {
    const target = URL.parse(request.url ?? '');
    if (!admit(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end('who are you?');
    } else if (target === null) {
      response.writeHead(400).end();
    } else {
      const { 'proxy-authorization': _mine, ...headers } = request.headers;
      const onward = http.request(
        { host: addressOf(target.hostname), port: target.port, path: target.pathname + target.search, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.writeHead(502).end('no way there'));
      onward.end();
    }
  });
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('connect', (request, client: Socket) => {
    if (!admit(request)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(request.url ?? '') ?? [];
    const target = net.connect({ host: addressOf(host), port: Number(port) }, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    sockets.add(target);
    target.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the proxy has no port');
  return {
    get connections() {
      return connections;
    },
    port: address.port,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
