import type { AddOnScore, PluginPlacement, PluginSource } from '../../plugin/response/plugin-source.ts';
import type { WaveReading, WavesRequest } from '../../src/core/argocd/waves/served-waves.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';

const NONE: readonly AddOnScore[] = [];

/** What the plugin endpoint reads, as a test sets it. */
export class MemoryPluginSource implements PluginSource {
  trouble: string | undefined;
  readonly placements = new Map<string, PluginPlacement>();
  readonly clusters = new Map<string, ManagedCluster>();
  readonly addOnScores = new Map<string, readonly AddOnScore[]>();
  /** Of cluster sets. */
  readonly members = new Map<string, readonly string[]>();
  /** By name of the ApplicationSet. */
  readonly served = new Map<string, WaveReading>();
  current = 0;

  problem = () => this.trouble;
  placement = (name: string) => this.placements.get(name);
  cluster = (name: string) => this.clusters.get(name);
  scores = (name: string) => this.addOnScores.get(name) ?? NONE;
  isInSets = (name: string, sets: ReadonlySet<string>) =>
    [...sets].some((set) => this.members.get(set)?.includes(name) === true);
  waves = ({ applicationSet }: WavesRequest): WaveReading =>
    this.served.get(applicationSet) ?? { ok: false, isWrong: false, message: 'not written yet' };
  revision = () => this.current;
}
