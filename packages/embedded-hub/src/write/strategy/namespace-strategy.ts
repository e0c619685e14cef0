import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, objectAt, textAt } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** A new namespace gets its name as a label, the phase Active and the finalizer `kubernetes`. */
export const NAMESPACE_STRATEGY: Strategy = {
  fillIn: (object) => {
    const metadata = objectAt(object, 'metadata') ?? {};
    const labels = { ...objectAt(metadata, 'labels'), [NAME_LABEL]: textAt(metadata, 'name') };
    return { ...object, metadata: { ...metadata, labels } };
  },
  onCreate: (object) => ({ ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  onUpdate: (object, old, subresource) => {
    if (subresource === 'finalize') return object;
    const spec = getOwn(old, 'spec');
    return spec === undefined ? object : { ...object, spec };
  },
  onDelete: (object): JsonObject => ({
    ...object,
    status: { ...objectAt(object, 'status'), phase: 'Terminating' },
  }),
};
