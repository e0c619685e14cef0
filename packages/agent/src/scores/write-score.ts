import { createIfAbsent } from '@berth/kube/create-if-absent';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import { ADDON_PLACEMENT_SCORE, apiVersionOf } from '@berth/kube/model/kinds';
import { epochMsOf, formatRfc3339, instantFromEpochMs, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';

export interface ScoreWrite {
  readonly hub: KubeApi;
  /** The namespace on the hub. */
  readonly clusterName: string;
  /** The name of the AddOnPlacementScore. */
  readonly scoreName: string;
  /** How long a score is valid. It is written again after half of this time. */
  readonly validMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A number by which a placement can compare clusters: −100 to 100. */
export interface NamedScore {
  readonly name: string;
  readonly value: number;
}

/**
 * Writes the scores of a cluster when they changed, or before those on the hub expire.
 * @throws errors of the hub
 */
export async function writeScore(
  { hub, clusterName, scoreName, clock, validMs, log }: ScoreWrite,
  scores: readonly NamedScore[],
): Promise<void> {
  const key = { namespace: clusterName, name: scoreName };
  const found = (await hub.get(ADDON_PLACEMENT_SCORE, key)) as unknown as AddOnPlacementScore | undefined;
  if (found === undefined)
    await createIfAbsent(hub, ADDON_PLACEMENT_SCORE, {
      apiVersion: apiVersionOf(ADDON_PLACEMENT_SCORE),
      kind: ADDON_PLACEMENT_SCORE.kind,
      metadata: key,
    });
  const until = parseRfc3339(found?.status?.validUntil ?? '');
  const leftMs = until === undefined ? 0 : epochMsOf(until) - clock.now();
  const isSame = jsonEqual(found?.status?.scores, scores);
  if (isSame && leftMs > validMs / 2 && leftMs <= validMs) return;
  const validUntil = formatRfc3339(instantFromEpochMs(clock.now() + validMs));
  await hub.mergePatch(
    ADDON_PLACEMENT_SCORE,
    key,
    { status: { scores, validUntil } },
    { subresource: 'status' },
  );
  if (!isSame) log.info('scores changed', { cluster: clusterName, scores });
}
