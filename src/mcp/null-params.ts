/**
 * Returns a message without `params` and without `arguments` of a call where they are null: some clients send null for
 * what they leave out, and the SDK refuses it.
 */
export function withoutNullParams<Message>(message: Message): Message {
  if (!isObject(message) || !('params' in message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest as Message;
  if (!isObject(params) || !('arguments' in params) || params.arguments !== null) return message;
  const { arguments: _, ...others } = params;
  return { ...rest, params: others } as Message;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
