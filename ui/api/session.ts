import { signal } from '@preact/signals';
import { call, loginRequired } from './client.ts';

interface Session {
  /** Whether the service has API keys. */
  readonly required: boolean;
  readonly authenticated: boolean;
}

/** Whether the service has API keys; undefined until it is known. */
export const needsKey = signal<boolean | undefined>(undefined);

/** Finds out whether a login is needed. */
export async function readSession(): Promise<void> {
  const { data } = await call<Session>('/session');
  needsKey.value = data.required;
  loginRequired.value = data.required && !data.authenticated;
}

/** Exchanges a key for a session, which the browser keeps in a cookie that scripts cannot read. */
export async function logIn(key: string): Promise<void> {
  await call('/session', { method: 'POST', body: { key } });
  needsKey.value = true;
  loginRequired.value = false;
}

export async function logOut(): Promise<void> {
  try {
    await call('/session', { method: 'DELETE' });
  } finally {
    loginRequired.value = true;
  }
}
