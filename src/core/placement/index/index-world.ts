import { InputError } from '../../errors.ts';
import type { Instant } from '../../model/rfc3339.ts';
import { parseRfc3339 } from '../../model/rfc3339.ts';
import { Fleet } from '../../snapshot/fleet.ts';
import type { World } from '../../snapshot/world.ts';
import type { CompileCel } from '../filter/cel-hook.ts';
import { Eligibility } from '../filter/eligibility.ts';
import { SchedulingIndex } from './scheduling-index.ts';

export function parseNow(text: string): Instant {
  const now = parseRfc3339(text);
  if (now === undefined)
    throw new InputError(`got ${JSON.stringify(text)}, expected an RFC 3339 time like 2026-03-01T12:00:00Z`, {
      code: 'world.now',
      subject: 'now',
    });
  return now;
}

/** The indexes of a world's objects; its placements are compiled later. */
export function indexWorld(world: World, compileCel: CompileCel, now = parseNow(world.now)): SchedulingIndex {
  const fleet = new Fleet(world.clusters, world.scores);
  const eligibility = new Eligibility(world.clusterSets, world.bindings, fleet);
  return new SchedulingIndex(fleet, eligibility, { now, compileCel });
}
