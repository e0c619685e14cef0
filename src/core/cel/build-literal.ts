import type { BuildScope, BuiltCel } from './build-scope.ts';
import { LIST_CREATE_COST, MAP_CREATE_COST } from './cel-cost.ts';
import { celMapKey } from './cel-map.ts';
import type { CelNode } from './cel-node.ts';
import type { CelType } from './cel-type.ts';
import { celType, DYN, formatType, unify } from './cel-type.ts';
import type { CelMapKey, CelValue } from './cel-value.ts';
import { CelFailure, CelMap, CelTypeValue, celTypeName, MAX_INT, MIN_INT } from './cel-value.ts';

export type BuildNode = (node: CelNode, scope: BuildScope) => BuiltCel;

export function buildLiteral(value: CelValue, node: CelNode, scope: BuildScope): BuiltCel {
  if (typeof value === 'bigint' && (value > MAX_INT || value < MIN_INT))
    return scope.fail(node, `Syntax error: invalid int literal ${value}`);
  return { type: celType(value instanceof CelTypeValue ? 'type' : celTypeName(value)), run: () => value };
}

export function buildList(node: ListNode, scope: BuildScope, build: BuildNode): BuiltCel {
  let item: CelType | undefined;
  const runs = node.items.map((itemNode) => {
    const built = build(itemNode, scope);
    item = joinTypes(item, built.type, itemNode, scope);
    return built.run;
  });
  return { type: celType('list', item ?? DYN), run: collectItems(runs) };
}

/** The arguments of `format`: the one list that may mix types. */
export function buildMixedList(node: ListNode, scope: BuildScope, build: BuildNode): BuiltCel {
  return { type: celType('list', DYN), run: collectItems(node.items.map((item) => build(item, scope).run)) };
}

type ListNode = Extract<CelNode, { kind: 'list' }>;

function collectItems(runs: readonly BuiltCel['run'][]): BuiltCel['run'] {
  return (frame) => {
    frame.cost += LIST_CREATE_COST;
    const items: CelValue[] = [];
    for (const run of runs) {
      const value = run(frame);
      if (value instanceof CelFailure) return value;
      items.push(value);
    }
    return items;
  };
}

export function buildMap(
  node: Extract<CelNode, { kind: 'map' }>,
  scope: BuildScope,
  build: BuildNode,
): BuiltCel {
  let key: CelType | undefined;
  let value: CelType | undefined;
  const runs = node.entries.map(([keyNode, valueNode]) => {
    const builtKey = build(keyNode, scope);
    const builtValue = build(valueNode, scope);
    key = joinTypes(key, builtKey.type, keyNode, scope);
    value = joinTypes(value, builtValue.type, valueNode, scope);
    return [builtKey.run, builtValue.run] as const;
  });
  return {
    type: celType('map', key ?? DYN, value ?? DYN),
    run: (frame) => {
      frame.cost += MAP_CREATE_COST;
      const entries = new Map<CelMapKey, CelValue>();
      for (const [runKey, runValue] of runs) {
        const k = runKey(frame);
        if (k instanceof CelFailure) return k;
        const v = runValue(frame);
        if (v instanceof CelFailure) return v;
        const stored = celMapKey(k);
        if (stored === undefined) return new CelFailure(`unsupported key type: ${celTypeName(k)}`);
        if (entries.has(stored)) return new CelFailure(`Failed with repeated key: ${String(stored)}`);
        entries.set(stored, v);
      }
      return new CelMap(entries);
    },
  };
}

/** Literals hold one type of element only, as the API server wants it; `dyn` opens them. */
function joinTypes(so: CelType | undefined, next: CelType, node: CelNode, scope: BuildScope): CelType {
  if (so === undefined || next.name === 'dyn') return next;
  if (!unify(so, next, new Map()))
    scope.fail(node, `expected type '${formatType(so)}' but found '${formatType(next)}'`);
  return so;
}
