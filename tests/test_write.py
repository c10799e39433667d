"""Writing: whole, only on change, nothing half done, nothing that is not ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autoparser_gen import write
from autoparser_gen.errors import OutputError
from autoparser_gen.header import GENERATED_BY
from autoparser_gen.write import Status

OURS = f"# {GENERATED_BY} (format 1). DO NOT EDIT.\n"


def _put(files: dict[Path, str], *, force: bool = False) -> list[Status]:
    changes = write.plan(files, force=force)
    write.apply(changes)
    return [change.status for change in changes]


def test_created_then_unchanged_then_updated(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "x.py"
    assert _put({file: OURS}) == [Status.CREATED]
    before = file.stat().st_mtime_ns
    assert _put({file: OURS}) == [Status.UNCHANGED]
    assert file.stat().st_mtime_ns == before
    assert _put({file: OURS + "x = 1\n"}) == [Status.UPDATED]
    assert file.read_text() == OURS + "x = 1\n"
    assert [path.name for path in file.parent.iterdir()] == ["x.py"]


def test_line_ends_are_written_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    _put({file: OURS + "é\u2028\n"})
    assert file.read_bytes() == (OURS + "é\u2028\n").encode()


@pytest.mark.parametrize("content", ["import os\n", "{}", '{"name": "format_version"}', "\x00\x01"])
def test_a_file_that_is_not_ours_stays(tmp_path: Path, content: str) -> None:
    file = tmp_path / "x.py"
    file.write_text(content)
    with pytest.raises(OutputError, match="was not generated.*--force"):
        _put({tmp_path / "other.py": OURS, file: OURS})
    assert file.read_text() == content
    assert not (tmp_path / "other.py").exists()
    assert _put({file: OURS}, force=True) == [Status.UPDATED]


def test_an_empty_file_and_our_json_may_be_replaced(tmp_path: Path) -> None:
    empty, analysis = tmp_path / "x.py", tmp_path / "x.json"
    empty.touch()
    analysis.write_text('{\n  "format_version": 1,\n  "old": true\n}\n')
    assert _put({empty: OURS, analysis: "{}\n"}) == [Status.UPDATED, Status.UPDATED]


def test_nothing_is_written_when_one_file_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "a.py"
    old.write_text(OURS)
    changes = write.plan({old: OURS + "new\n", tmp_path / "deep" / "er" / "b.py": OURS})
    real, calls = os.fsync, []

    def full_disk(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OutputError, match="b.py: cannot be written: No space left on device"):
        write.apply(changes)
    assert old.read_text() == OURS
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_an_interrupted_run_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_text(OURS)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write.apply(write.plan({file: OURS + "new\n"}))
    assert file.read_text() == OURS
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="no permission to write"):
        write.plan({tmp_path / "x.py": OURS})


def test_no_permission_is_found_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="no permission to write"):
        write.plan({tmp_path / "new" / "x.py": OURS})


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="is a file, not a folder"):
        write.plan({tmp_path / "file" / "x.py": OURS})
    with pytest.raises(OutputError, match="is a folder"):
        write.plan({tmp_path: OURS})


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_text(OURS)
    real.chmod(0o640)
    link.symlink_to(real)
    _put({link: OURS + "new\n"})
    assert link.is_symlink()
    assert real.read_text() == OURS + "new\n"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        _put({tmp_path / "x.py": OURS})
    finally:
        os.umask(old)
    assert (tmp_path / "x.py").stat().st_mode & 0o777 == 0o640


def test_diff_is_unified_and_names_new_files(tmp_path: Path) -> None:
    old, new = tmp_path / "a.py", tmp_path / "b.py"
    old.write_text(OURS + "x = 1\n")
    text = write.diff(write.plan({old: OURS + "x = 2\n", new: OURS}))
    assert "-x = 1\n+x = 2\n" in text
    assert f"--- /dev/null\n+++ {new.as_posix()}\n" in text
    assert not new.exists()
    assert write.diff(write.plan({old: OURS + "x = 1\n"})) == ""


def test_orphans_are_generated_files_that_nothing_accounts_for(tmp_path: Path) -> None:
    kept, gone, theirs = (tmp_path / name for name in ("a/a.py", "b/b.py", "b/notes.py"))
    for file, content in ((kept, OURS), (gone, OURS), (theirs, "mine = 1\n")):
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    assert write.orphans(tmp_path, [kept]) == [gone]


def test_report_says_what_happened(tmp_path: Path) -> None:
    files = {tmp_path / "a.py": OURS, tmp_path / "b.py": OURS}
    changes = write.plan(files)
    assert write.report(changes, [], check=False) == [f"created {path}" for path in files]
    assert write.report(changes, [], check=True)[0].startswith("would be created")
    write.apply(changes)
    again = write.plan(files)
    assert write.report(again, [], check=False) == ["nothing changed: 2 files up to date"]
