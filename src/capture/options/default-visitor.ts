/** Language and time zone of pages whose request sets none, whatever those of the operator are. */
export const DEFAULT_LOCALE = 'en-US';
export const DEFAULT_TIMEZONE = 'UTC';
