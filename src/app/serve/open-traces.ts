import { hostname } from 'node:os';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import type { TraceSink } from '@berth/runtime/open-trace';
import { OtlpExporter } from '../../adapters/otlp/otlp-exporter.ts';
import { CommitTraces } from '../../controllers/sources/progress/commit-traces.ts';
import { sourceNameOf } from '../../controllers/sources/progress/source-options.ts';
import type { ServeOptions } from '../settings/serve-options.ts';
import type { ControllerMetrics } from './http/controller-metrics.ts';

export interface OpenTraces {
  readonly sink: TraceSink;
  readonly commits: CommitTraces;
}

/**
 * Sends the traces of commits and previews, until the supervisor closes.
 * @throws InputError for an address, or headers, that cannot work
 */
export function openTraces(
  options: ServeOptions & { readonly otlp: NonNullable<ServeOptions['otlp']> },
  metrics: Pick<ControllerMetrics, 'spans'>,
  supervisor: Supervisor,
): OpenTraces {
  const { otlp, clock, random, log, sources, leadership, engineVersion } = options;
  const exporter = new OtlpExporter({
    ...{ ...otlp, clock, random, log },
    resource: {
      'service.name': 'berth',
      'service.version': engineVersion,
      'service.instance.id': hostname(),
    },
    onSpans: (outcome, count) => metrics.spans(outcome, count),
  });
  const sink: TraceSink = (trace) => exporter.take(trace);
  const writing = sources.filter(({ sync }) => sync !== 'observe');
  const commits = new CommitTraces({
    ...{ clock, sink },
    urls: new Map(writing.map((source) => [sourceNameOf(source), source.url])),
    mayWrite: () => leadership?.isHeld !== false,
  });
  supervisor.start('traces', (signal) => exporter.run(signal));
  return { sink, commits };
}
