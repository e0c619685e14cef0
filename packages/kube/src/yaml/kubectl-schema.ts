import yaml from 'js-yaml';
import { resolvePlainScalar } from './scalar.ts';

const merge = new yaml.Type('tag:yaml.org,2002:merge', {
  kind: 'scalar',
  resolve: (data: unknown) => data === '<<',
});

/**
 * A js-yaml schema with the semantics of kubectl. Timestamps, binary, sets and ordered maps are refused as unknown
 * tags.
 * @param resolveScalar returns the value of a plain scalar; parsing throws what it throws
 */
export function kubectlSchema(resolveScalar: (text: string) => unknown = resolvePlainScalar): yaml.Schema {
  const valueOf = (data: unknown): unknown => (typeof data === 'string' ? resolveScalar(data) : data);
  const tagged = (name: string, accepts: (value: unknown) => boolean): yaml.Type =>
    new yaml.Type(`tag:yaml.org,2002:${name}`, {
      kind: 'scalar',
      resolve: (data: unknown) => accepts(valueOf(data)),
      construct: valueOf,
    });
  // One implicit type resolves null, bool, int and float, so that each scalar is examined once
  // instead of four times.
  const plainScalar = new yaml.Type('tag:berth.dev,2026:plain-scalar', {
    kind: 'scalar',
    resolve: () => true,
    construct: resolveScalar,
  });
  return yaml.FAILSAFE_SCHEMA.extend({
    implicit: [merge, plainScalar],
    explicit: [
      tagged('null', (value) => value === null),
      tagged('bool', (value) => typeof value === 'boolean'),
      tagged('int', (value) => Number.isInteger(value)),
      tagged('float', (value) => typeof value === 'number'),
    ],
  });
}
