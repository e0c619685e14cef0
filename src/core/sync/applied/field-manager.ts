import type { ManagedFields } from './manager-fields.ts';

/** Field manager of everything that comes from Git. */
export const FIELD_MANAGER = 'berth';

/** Field manager of what stays of an object that left Git, where nobody else owned it. */
export const WITHDRAWN_MANAGER = 'berth-withdrawn';

/** Whether the entry lists what Git applied. Other writes of Berth have the operation Update. */
export function isFromGit({ manager, operation, subresource = '' }: ManagedFields): boolean {
  return manager === FIELD_MANAGER && operation === 'Apply' && subresource === '';
}
