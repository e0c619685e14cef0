import { sameRule, type WaveRule } from './wave-rule.ts';
import { parseWaves, type PlacementWaves, WAVES_ANNOTATION } from './wave-state.ts';

/** Which waves an ApplicationSet requests. */
export interface WavesRequest {
  /** Name of the ApplicationSet. */
  readonly applicationSet: string;
  /** Its namespace; undefined if Argo CD did not send it. */
  readonly applicationSetNamespace: string | undefined;
  /** `namespace/name` */
  readonly placement: string;
  readonly rule: WaveRule;
}

export type WaveReading =
  /** The wave of each cluster that is served. */
  | { readonly ok: true; readonly served: ReadonlyMap<string, number> }
  /** `isWrong`: a user must change the ApplicationSet or the settings of Berth. */
  | { readonly ok: false; readonly isWrong: boolean; readonly message: string };

/** An ApplicationSet with waves for the placement, as on the hub. */
export interface WaveCandidate {
  readonly namespace: string;
  readonly rule: WaveRule;
  /** Value of the annotation. */
  readonly written: string | undefined;
}

/**
 * The waves in the response to an ApplicationSet. They are read from its annotation and never computed here, so every
 * process gives the same response, and a cluster that is not recorded is not served.
 * @param candidates ApplicationSets with this name, in any namespace
 */
export function readServedWaves(
  { applicationSet, applicationSetNamespace, placement, rule }: WavesRequest,
  candidates: readonly WaveCandidate[],
  parsed: (written: string, namespace: string) => ReadonlyMap<string, ServedWaves> | undefined,
): WaveReading {
  const [found, ...others] = candidates.filter(
    ({ namespace }) => applicationSetNamespace === undefined || namespace === applicationSetNamespace,
  );
  if (found === undefined)
    return wait(
      `no ApplicationSet ${applicationSet} that takes placement ${placement} in waves is known yet`,
    );
  if (others.length > 0)
    return {
      ok: false,
      isWrong: true,
      message: `several namespaces have an ApplicationSet ${applicationSet} for placement ${placement}: name its own in input.parameters.applicationSetNamespace`,
    };
  if (!sameRule(rule, found.rule))
    return wait(`the waves of ApplicationSet ${applicationSet} were changed a moment ago`);
  const waves =
    found.written === undefined ? undefined : parsed(found.written, found.namespace)?.get(placement);
  if (waves === undefined)
    return wait(
      `the waves of placement ${placement} are not written on ApplicationSet ${applicationSet} yet`,
    );
  return { ok: true, served: waves };
}

export type ServedWaves = ReadonlyMap<string, number>;

/**
 * Reads the annotation `berth.dev/waves`. By placement: the wave of each served cluster. Undefined: it is not a valid
 * state.
 */
export function servedWaves(written: string): ReadonlyMap<string, ServedWaves> | undefined {
  const states = parseWaves(written);
  if (states === undefined) return undefined;
  return new Map([...states].map(([placement, waves]) => [placement, servedOf(waves)]));
}

/** The part of the state on which a response depends; '' if there is none. */
export function servedText(annotations: Readonly<Record<string, string>> | undefined): string {
  const written = annotations?.[WAVES_ANNOTATION];
  const waves = written === undefined ? undefined : servedWaves(written);
  return waves === undefined ? '' : JSON.stringify([...waves].map(([name, served]) => [name, [...served]]));
}

function servedOf({ clusters }: PlacementWaves): ServedWaves {
  return new Map(
    [...clusters].flatMap(([cluster, { wave, isServed }]) => (isServed ? [[cluster, wave]] : [])),
  );
}

function wait(message: string): WaveReading {
  return { ok: false, isWrong: false, message };
}
