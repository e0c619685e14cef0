import type { AdmissionWrite } from '../../write/write-request.ts';

/** Whether a write is about the objects of a resource themselves: creations and updates, not status, not deletions. */
export function isWriteOf(write: AdmissionWrite, group: string, plural: string): boolean {
  const { definition } = write.ref;
  return (
    definition.group === group &&
    definition.plural === plural &&
    write.subresource === '' &&
    write.operation !== 'DELETE'
  );
}
