import { asGenerator } from '../generators/nested-generator.ts';
import { GenerateError } from '../failure/failures.ts';
import type { TypedObject } from '../typed/typed-value.ts';

const DECISIONS_SECONDS = 180;
const PLUGIN_SECONDS = 1800;

/**
 * After how many seconds the controller reconciles again if nothing changed: the shortest time of
 * all generators. 0 means never.
 */
export function requeueAfterSeconds(generators: readonly TypedObject[]): number {
  const seconds = generators.flatMap(secondsOf).filter((value) => value !== 0);
  return seconds.length === 0 ? 0 : Math.min(...seconds);
}

function secondsOf({ clusterDecisionResource, plugin, matrix, merge }: TypedObject): readonly number[] {
  return [
    ...requeueOf(clusterDecisionResource as TypedObject | undefined, DECISIONS_SECONDS),
    ...requeueOf(plugin as TypedObject | undefined, PLUGIN_SECONDS),
    ...requeueOfChildren(matrix as TypedObject | undefined),
    ...requeueOfChildren(merge as TypedObject | undefined),
  ];
}

function requeueOf(generator: TypedObject | undefined, defaultSeconds: number): readonly number[] {
  return generator === undefined
    ? []
    : [(generator['requeueAfterSeconds'] as number | undefined) ?? defaultSeconds];
}

function requeueOfChildren(generator: TypedObject | undefined): readonly number[] {
  const list = (generator?.['generators'] ?? []) as readonly TypedObject[];
  return list.flatMap((child) => {
    try {
      return secondsOf(asGenerator(child));
    } catch (error) {
      if (error instanceof GenerateError) return [];
      throw error;
    }
  });
}
