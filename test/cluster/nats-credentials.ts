import { nkeys } from '@nats-io/transport-node';

/** An operator of a NATS server, and a user of it. */
export interface Operator {
  /** The server's configuration. */
  readonly config: string;
  /** Returns the contents of a `.creds` file. */
  creds(): string;
}

type KeyPair = ReturnType<typeof nkeys.createUser>;

const UNLIMITED = { subs: -1, data: -1, payload: -1 };

/** Makes keys and JSON Web Tokens as `nsc`, the tool of NATS, does. */
export function createOperator(): Operator {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const system = nkeys.createAccount();
  const accountLimits = { ...UNLIMITED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const operatorToken = token(operator, operator, { type: 'operator' });
  const accountToken = token(operator, account, { type: 'account', limits: { ...accountLimits, ...storage } });
  // JetStream needs one.
  const systemToken = token(operator, system, { type: 'account', limits: accountLimits });
  return {
    config: `operator: ${operatorToken}
resolver: MEMORY
system_account: ${system.getPublicKey()}
resolver_preload: {
  ${account.getPublicKey()}: ${accountToken}
  ${system.getPublicKey()}: ${systemToken}
}
`,
    creds: () => `-----BEGIN NATS USER JWT-----
${token(account, user, { type: 'user', ...UNLIMITED })}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${Buffer.from(user.getSeed()).toString()}
------END USER NKEY SEED------
`,
  };
}

function token(issuer: KeyPair, subject: KeyPair, claims: Readonly<Record<string, unknown>>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = {
    jti: subject.getPublicKey(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: 'capstan',
    nats: { ...claims, version: 2 },
  };
  const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(body)}`;
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
}
