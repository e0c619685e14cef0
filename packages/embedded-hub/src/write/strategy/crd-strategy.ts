import type { JsonObject } from '../../json/json-value.ts';
import { objectAt, textAt } from '../../json/json-value.ts';
import { approvalProblems, crdProblems } from '../../scheme/crd-problems.ts';
import type { Strategy } from './strategy.ts';

/** Custom resource definitions: completes names, and rejects a definition that cannot be served. */
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
    const conversion = withServicePort(objectAt(spec, 'conversion') ?? { strategy: 'None' });
    return { ...object, spec: { ...spec, conversion, names: completed } };
  },
  validate: (object, old) => [
    ...crdProblems(object, old),
    ...(old === undefined ? approvalProblems(object) : []),
  ],
};

/** The default port of a conversion webhook is 443. */
function withServicePort(conversion: JsonObject): JsonObject {
  const webhook = objectAt(conversion, 'webhook');
  const clientConfig = objectAt(webhook, 'clientConfig');
  const service = objectAt(clientConfig, 'service');
  if (service === undefined || service['port'] !== undefined) return conversion;
  return {
    ...conversion,
    webhook: { ...webhook, clientConfig: { ...clientConfig, service: { ...service, port: 443 } } },
  };
}
