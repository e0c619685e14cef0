import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Application, ApplicationStatus } from '../../../src/core/argocd/argocd-kinds.ts';
import type { FeedbackValue, ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { ObjectMeta } from '@berth/kube/model/object-meta';

/** One line of pull.jsonl.gz; README.md says what the fields mean. */
export interface RecordedPull {
  readonly id: string;
  readonly step: string;
  readonly application: Application;
  readonly manifestWorks: readonly ManifestWork[];
  readonly feedback: readonly FeedbackValue[];
  readonly applicationStatus: ApplicationStatus | null;
  readonly left: ObjectMeta | null;
}

export function recordedPulls(): readonly RecordedPull[] {
  return gunzipSync(readFileSync(new URL('./pull.jsonl.gz', import.meta.url)))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedPull);
}

/** The work as an API server stores it: with the two defaults of the kind. */
export function stored(work: ManifestWork): ManifestWork {
  const manifestConfigs = work.spec?.manifestConfigs?.map((config) => ({
    feedbackScrapeType: 'Poll',
    ...config,
    updateStrategy: {
      ...config.updateStrategy,
      serverSideApply: { fieldManager: 'work-agent', ...config.updateStrategy?.serverSideApply },
    },
  }));
  return { ...work, spec: { ...work.spec, manifestConfigs } } as ManifestWork;
}
