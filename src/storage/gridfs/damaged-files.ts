import type { Db } from 'mongodb';
import type { ArtifactKind } from '../../capture/artifacts.ts';
import { artifactCollections, type CaptureDocument, chunksOf } from '../mongo/artifact-documents.ts';
import type { Ask } from '../mongo/connection.ts';

/** Number of captures looked at together. */
const PAGE = 250;

export interface DamagedFile {
  /** The id of the capture. */
  readonly id: number;
  readonly kind: ArtifactKind;
}

/** Finds files with missing chunks, which only a damaged or half restored database has. Reads only an index. */
export async function* damagedFiles(database: Db, ask: Ask): AsyncGenerator<DamagedFile> {
  const { captures, chunks } = artifactCollections(database);
  for (let after = 0; ; ) {
    const page = await ask(() =>
      captures
        .find({ _id: { $gt: after } })
        .project<Pick<CaptureDocument, '_id' | 'files'>>({ files: 1 })
        .sort({ _id: 1 })
        .limit(PAGE)
        .toArray(),
    );
    const ids = page.flatMap(({ files }) => files.map(({ file }) => file));
    const found = await ask(() =>
      chunks
        .aggregate<{ readonly _id: string; readonly chunks: number }>([
          { $match: { files_id: { $in: ids } } },
          { $group: { _id: { $toString: '$files_id' }, chunks: { $sum: 1 } } },
        ])
        .toArray(),
    );
    const counts = new Map(found.map((one) => [one._id, one.chunks]));
    for (const { _id: id, files } of page) {
      for (const file of files) {
        if ((counts.get(file.file.toHexString()) ?? 0) !== chunksOf(file)) yield { id, kind: file.kind };
      }
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last._id;
  }
}
