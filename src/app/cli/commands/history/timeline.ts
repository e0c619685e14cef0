import { HistoryReader } from '../../../../adapters/store/history-store.ts';
import { readRecordLog } from '../../../../adapters/store/record-log.ts';
import { summarize } from '../../../../core/publish/record/compact-record.ts';
import type { DecisionRecord } from '../../../../core/publish/record/decision-record.ts';
import {
  inOrder,
  movedStep,
  stepsOf,
  type TimelineStep,
  tolerationSteps,
} from '../../../../core/timeline/timeline.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { renderDocument, renderTextTable, type OutputFormat } from '../../../terminal/output-format.ts';
import { isHubRequested } from '../../flags/hub-flags.ts';
import { wrongOption } from '../../flags/option-values.ts';
import { type HistoryFlags, historyDir } from './decision-history.ts';

export interface TimelineFlags extends HistoryFlags {
  readonly output: OutputFormat;
  readonly limit: number;
  /** `namespace/name`; undefined: all placements and all clusters. */
  readonly placement: string | undefined;
}

/** Lists what happened to clusters, decisions and works, newest last. */
export async function listTimeline(io: CliIo, flags: TimelineFlags): Promise<ExitCode> {
  if (isHubRequested(flags))
    throw wrongOption(
      '--timeline',
      'reads the data directory only, expected no --hub, --kubeconfig or --context',
    );
  const { placement, limit, output } = flags;
  const reader = new HistoryReader(historyDir(flags));
  const records = (await reader.list()).filter(
    (record) => placement === undefined || record.placement === placement,
  );
  const recorded = await readRecordLog<TimelineStep>({ dir: historyDir(flags), name: 'timeline' });
  const clusters = new Set(records.flatMap(({ added, removed }) => [...added, ...removed]));
  const steps = [
    ...(placement === undefined ? recorded : stepsOf(placement, recorded, clusters)),
    ...(await tolerationsOf(reader, records.slice(-limit))),
    ...records.map((record) =>
      movedStep({ ...record, added: summarize(record.added), removed: summarize(record.removed) }),
    ),
  ];
  const shown = inOrder(steps).slice(-limit);
  io.stdout.write(
    output === 'table' ? renderTextTable(HEADINGS, shown.map(row)) : await renderDocument(shown, output),
  );
  return 0;
}

/** The tolerations of decisions whose inputs are still stored. */
async function tolerationsOf(
  reader: HistoryReader,
  records: readonly DecisionRecord[],
): Promise<readonly TimelineStep[]> {
  const steps: TimelineStep[] = [];
  for (const record of records.filter(({ removed }) => removed.length > 0)) {
    const snapshot = await reader.readSnapshot(record.inputs).catch(() => undefined);
    if (snapshot !== undefined) steps.push(...tolerationSteps(record, snapshot));
  }
  return steps;
}

const HEADINGS = ['TIME', 'STEP', 'CLUSTER', 'PLACEMENT', 'DETAIL'];

function row({ at, step, cluster, placement, detail }: TimelineStep): readonly string[] {
  return [at, step, cluster ?? '-', placement ?? '-', detail];
}
