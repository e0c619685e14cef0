import type { AdmissionWrite } from '../../write/write-request.ts';

/**
 * Whether a write creates or updates an object of the resource; false for subresources and
 * deletions.
 */
export function isWriteOf(write: AdmissionWrite, group: string, plural: string): boolean {
  const { definition } = write.ref;
  return (
    definition.group === group &&
    definition.plural === plural &&
    write.subresource === '' &&
    write.operation !== 'DELETE'
  );
}
