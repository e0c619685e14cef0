import type { JsonObject } from '../../json/json-value.ts';
import { objectAt, textAt } from '../../json/json-value.ts';
import { approvalProblems, crdProblems } from '../../scheme/crd-problems.ts';
import type { Strategy } from './strategy.ts';

/** Custom resource definitions: names are completed; everything that could not be served is refused. */
export const CRD_STRATEGY: Strategy = {
  generation: true,
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    const names = objectAt(spec, 'names');
    if (spec === undefined || names === undefined) return object;
    const kind = textAt(names, 'kind');
    const completed: JsonObject = {
      ...names,
      listKind: textAt(names, 'listKind') || `${kind}List`,
      singular: textAt(names, 'singular') || kind.toLowerCase(),
    };
    return { ...object, spec: { conversion: { strategy: 'None' }, ...spec, names: completed } };
  },
  validate: (object, old) => [
    ...crdProblems(object, old),
    ...(old === undefined ? approvalProblems(object) : []),
  ],
  warnings: (object) =>
    textAt(objectAt(objectAt(object, 'spec'), 'conversion'), 'strategy') === 'Webhook'
      ? [
          'spec.conversion: this hub calls no conversion webhook, only the storage version can be read and written',
        ]
      : [],
};
